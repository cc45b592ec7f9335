-- whether a run came with the app

alter table runs add column recording boolean default false;
