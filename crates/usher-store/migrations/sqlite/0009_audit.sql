-- Which call was approved or used: its method, its name and the beginning of its digest. Never its arguments.
ALTER TABLE audit ADD COLUMN operation TEXT;
