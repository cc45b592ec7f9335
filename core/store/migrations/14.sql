-- how an answer ended, the model's thinking, what was sent, and who answered

alter table calls add column ended varchar;              -- complete | cut | unknown
alter table calls add column thinking varchar;           -- raw | summary | hidden; null where the model did not think
alter table calls add column thinking_tokens bigint;     -- part of completion_tokens
alter table calls add column sent json;                  -- the parameters as they went out
alter table calls add column served_model varchar;       -- in the server's own words
alter table calls add column served_fingerprint varchar;
