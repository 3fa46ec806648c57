-- Who submits a batch can want its results gone before files of the tenant go: so long after they are written.
ALTER TABLE batch_jobs ADD COLUMN results_expire_seconds integer;
