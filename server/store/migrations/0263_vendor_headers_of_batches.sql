-- Headers of whoever submitted a job that the vendor of its lines acts on (a version of the API, betas): each line is sent with them.
ALTER TABLE batch_jobs ADD COLUMN vendor_headers jsonb;
