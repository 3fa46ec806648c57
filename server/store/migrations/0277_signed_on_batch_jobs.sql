-- Whether whoever submitted the job was vouched for by an identity provider: a password that they have to change does not bind its lines.
ALTER TABLE batch_jobs ADD COLUMN signed_on boolean NOT NULL DEFAULT false;
