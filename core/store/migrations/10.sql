-- which study a run was made for

alter table runs add column study varchar;  -- '' where it was made for none
