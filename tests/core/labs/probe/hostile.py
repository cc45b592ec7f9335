"""Sixty programs that scoring must survive. Each defines `f`, so that it would be tested if it could run."""

LOOPS = [
    "def f(x):\n    while True:\n        pass",
    "while True:\n    pass\ndef f(x):\n    return x",
    "def f(x):\n    for _ in range(10**12):\n        x += 1\n    return x",
    "def f(x):\n    return sum(i * i for i in range(10**11))",
    "def f(x):\n    n = 0\n    while n >= 0:\n        n += 1\n    return n",
    "import itertools\ndef f(x):\n    for _ in itertools.count():\n        pass",
    "def f(x):\n    try:\n        while True:\n            pass\n    except BaseException:\n        f(x)",
    "import re\ndef f(x):\n    return len(re.match(r'(a+)+$', 'a' * 40 + 'b').group())",
]

MEMORY = [
    "def f(x):\n    a = 'a'\n    while True:\n        a = a + a",
    "def f(x):\n    return 'a' * 10**12",
    "def f(x):\n    return len([0] * 10**10)",
    "def f(x):\n    a = []\n    while True:\n        a.append('xxxxxxxx' * 1000)",
    "def f(x):\n    return len({i: str(i) * 100 for i in range(10**8)})",
    "a = [1]\nfor _ in range(100):\n    a = a + a\ndef f(x):\n    return x",
    "def f(x):\n    return 'x'.ljust(10**11)",
    "def f(x):\n    return f'{x:>10000000000}'",
    "def f(x):\n    return len(bytes(10**11))",
    "def f(x):\n    return 'ab'.replace('', 'c' * 10**9)",
]

NUMBERS = [
    "def f(x):\n    return 10**10**10",
    "def f(x):\n    a = 10\n    for _ in range(60):\n        a = a * a\n    return a",
    "def f(x):\n    return 1 << 10**11",
    "def f(x):\n    return 9**9**9**9",
    "import math\ndef f(x):\n    return math.factorial(10**9)",
    "def f(x):\n    return int('9' * 10**8)",
    "def f(x):\n    return pow(7, 10**9, 0)",
    "import numpy as np\ndef f(x):\n    return np.power(10**100000, 10**100000)",
]

RECURSION = [
    "def f(x):\n    return f(x)",
    "def f(x):\n    return f(x + 1) + f(x + 2)",
    "def g(x):\n    return f(x)\ndef f(x):\n    return g(x)",
    "def f(x):\n    a = []\n    for _ in range(10**6):\n        a = [a]\n    return repr(a)",
    "class A:\n    def __repr__(self):\n        return repr(self)\ndef f(x):\n    return repr(A())",
    "def f(x):\n    return " + "(" * 3000 + "x" + ")" * 3000,
    "def f(x):\n    return " + "-" * 15000 + "x",
    "def f(x):\n    return " + "[" * 5000 + "]" * 5000,
]

FILES = [
    "def f(x):\n    return open('/etc/passwd').read()",
    "def f(x):\n    open('/tmp/written', 'w').write('x')\n    return x",
    "import os\ndef f(x):\n    return os.environ['HOME']",
    "import os\ndef f(x):\n    return os.listdir('/')[0]",
    "import pathlib\ndef f(x):\n    return pathlib.Path('/etc/hostname').read_text()",
    "import os\ndef f(x):\n    os.system('touch /tmp/touched')\n    return x",
    "import subprocess\ndef f(x):\n    return subprocess.run(['id'], capture_output=True).stdout",
    "import shutil\ndef f(x):\n    shutil.rmtree('/tmp/none')\n    return x",
    "import sys\ndef f(x):\n    return sys.modules['os'].getcwd()",
]

NETWORK = [
    "import socket\ndef f(x):\n    return socket.create_connection(('127.0.0.1', 80))",
    "import urllib.request\ndef f(x):\n    return urllib.request.urlopen('http://127.0.0.1').read()",
    "import http.client\ndef f(x):\n    return http.client.HTTPConnection('127.0.0.1').request('GET', '/')",
    "import ctypes\ndef f(x):\n    return ctypes.CDLL(None).getpid()",
]

TRICKS = [
    "def f(x):\n    return ().__class__.__bases__[0].__subclasses__()",
    "def f(x):\n    return f.__globals__['__builtins__']",
    "def f(x):\n    return __import__('os').getcwd()",
    "import numpy as np\ndef f(x):\n    return np.sin.__globals__",
    "import numpy as np\ndef f(x):\n    return np.load('/etc/passwd')",
    "import numpy as np\ndef f(x):\n    return np.random.__class__.__mro__",
    "def f(x):\n    return eval('__import__(\"os\").getcwd()')",
    "def f(x):\n    exec('import os')\n    return os.getcwd()",
    "def f(x):\n    raise SystemExit(0)",
    "raise KeyboardInterrupt\ndef f(x):\n    return x",
]

FLOODS = [
    "def f(x):\n    while True:\n        print('x' * 10000)",
    "for _ in range(10**7):\n    print('flood')\ndef f(x):\n    return x",
    "def f(x):\n    return 'x' * 1000000",
]

HOSTILE = [*LOOPS, *MEMORY, *NUMBERS, *RECURSION, *FILES, *NETWORK, *TRICKS, *FLOODS]

LENT = [
    "def f(x):\n    return np.zeros(10**12)",
    "def f(x):\n    return np.arange(0, 1, 1e-300)",
    "def f(x):\n    return np.arange(0, 10**9).sum()",
    "def f(x):\n    return np.arange(float('nan')).sum()",
    "def f(x):\n    return np.linspace(0, 1, 10**10).sum()",
    "def f(x):\n    return np.linspace([0] * 1000, [1] * 1000, 1000)",
    "def f(x):\n    return np.full((10**6, 10**6), 1)",
    "def f(x):\n    return np.array([[[1], [2]], [[3], [4]]])",
    "def f(x):\n    a = []\n    a.append(a)\n    return np.array(a)",
    "def f(x):\n    a = np.array([1, 2])\n    a.data = a\n    return np.sum(a)",
    "def f(x):\n    return np.array([1] * 1001) * x",
    "def f(x):\n    return np.convolve([1] * 1000, [1] * 1000)",
    "def f(x):\n    return np.append([1] * 1000, [1] * 1000)",
    "def f(x):\n    return np.diff([1, 2, 3], 10**9)",
    "def f(x):\n    return np.polyint([1, 2], 10**9)",
    "def f(x):\n    return np.polyfit([1, 2, 3], [1, 2, 3], 10**6)",
    "def f(x):\n    return np.poly1d([1, 2]) ** 10**9",
    "def f(x):\n    return np.random.normal(0, 1, size=10**9)",
    "def f(x):\n    return np.random.normal(size=(1000, 1000))",
    "def f(x):\n    while True:\n        np.random.default_rng(1)",
    "def f(x):\n    return np.random.default_rng(10**100).normal()",
    "def f(x):\n    return np.piecewise(x, [x > 0], [lambda v: f(v)])",
    "def g(v):\n    while True:\n        pass\ndef f(x):\n    return np.vectorize(g)(x)",
    "def g(v):\n    while True:\n        pass\ndef f(x):\n    return np.piecewise(x, [x > 0, x <= 0], [g, g])",
    "def f(x):\n    return np.vectorize(lambda v: v)([1] * 10**8)",
    "def f(x):\n    return np.select([[x > 0] * 10**6], [[1] * 10**6])",
    "def f(x):\n    a = np.array([10]) ** 10\n    for _ in range(60):\n        a = a * a\n    return a[0]",
    "def f(x):\n    return (np.array([10]) ** 10**10)[0]",
    "import re\ndef g(m):\n    while True:\n        pass\ndef f(x):\n    return re.sub('a', g, 'aaa')",
    "import re\ndef f(x):\n    return re.sub('', lambda m: 'x' * 10**7, 'a' * 1000)",
    "def f(x):\n    return ('a' * 10**6).translate(str.maketrans({'a': 'b' * 10**6}))",
    "def f(x):\n    return str.maketrans('a' * 10**9, 'b' * 10**9)",
    "def g():\n    while True:\n        yield 1\ndef f(x):\n    return next(g())",
    "def f(x):\n    a = list(range(10))\n    while True:\n        del a[:]",
    "from scipy.special import comb\ndef f(x):\n    return comb(10**9, 10**8, exact=True)",
    "from scipy.special import factorial\ndef f(x):\n    return factorial(10**6, exact=True)",
    "from scipy.stats import norm\ndef f(x):\n    return norm.rvs(size=10**9)",
    "from scipy.stats import norm\ndef f(x):\n    return norm.pdf([[0] * 1000] * 1000)",
    "from scipy.optimize import minimize\ndef f(x):\n    return minimize(lambda v: v, 0)",
    "import scipy\ndef f(x):\n    return scipy.io.loadmat('/etc/passwd')",
    "def f(x):\n    return np.fromfile('/etc/passwd')",
    "def f(x):\n    return np.frompyfunc(open, 1, 1)('/etc/passwd')",
    "def f(x):\n    return _lent_host.random_numbers.draw(10**9, '__class__')",
    "def f(x):\n    return _lent_host_scipy.stats.call('__class__.__init__', 1)",
    "def f(x):\n    return _lent_host.sin(out=np.array([1]))",
    "def f(x):\n    return np.array([1], dtype='object')",
    "def f(x):\n    return np.sum([1], dtype='O')",
    "import operator\ndef f(x):\n    return operator.pow(10, 10**10)",
    "import statistics\ndef f(x):\n    return statistics.mean(range(10**10))",
    "import cmath\ndef f(x):\n    return cmath.exp([1])",
]
"""Programs that demand too much of the functions provided to them."""
