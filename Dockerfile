# The app for others: docker compose up (compose.yaml, docs/host.md). It runs as nobody in particular, and writes to /data
# and /tmp alone: start it with --read-only --tmpfs /tmp:size=512m, and with a volume at /data.
# The image by its digest, as `make images` records it. There is no default: a tag is not always the same image.
ARG PYTHON_IMAGE
FROM ${PYTHON_IMAGE} AS packages
WORKDIR /build
RUN python -m venv /venv
COPY requirements.txt requirements.lock requirements-torch.lock ./
COPY tools/pytorch.py tools/
RUN /venv/bin/python tools/pytorch.py
RUN /venv/bin/python -m pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock

FROM ${PYTHON_IMAGE}
# What llama.cpp links to.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 openssh-client && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /data --no-create-home explain && install -d -o explain -g explain -m 0700 /data
COPY --from=packages /venv /venv
WORKDIR /app
COPY LICENSE app.py pyproject.toml ./
COPY .streamlit/config.toml .streamlit/
COPY core core
COPY pages pages
COPY studies studies
COPY data data
RUN /venv/bin/python -m compileall -q app.py core pages
ENV EXPLAIN_HOME=/data HOME=/data PYTHONDONTWRITEBYTECODE=1
USER explain
VOLUME /data
EXPOSE 8501
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
    CMD ["/venv/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
# All addresses of the container: from outside it only those reach it to whom its port is given.
CMD ["/venv/bin/python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501"]
