-- what a comparison needs of a row, so that it reads no other table

alter table items add column counts boolean;  -- by repaired rules; a case's own row always does
alter table items add column counts_paper boolean;
alter table items add column observed_paper varchar;
