-- what counts and is no verdict all the same, and why (by repaired rules; '' or null where it is one)

alter table trials add column doubt_repaired varchar;
alter table items add column doubt varchar;
