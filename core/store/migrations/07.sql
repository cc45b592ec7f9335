-- whose a run is, and what its owner said of who may see it

alter table runs add column owner varchar;
alter table runs add column shared boolean;  -- of the run that this journal is about
