-- What else went with an erasure than rows and runs: the account, and what approvals said of whom they were for.
ALTER TABLE data_erasures
  ADD COLUMN account_erased boolean NOT NULL DEFAULT false,
  ADD COLUMN approvals_erased bigint NOT NULL DEFAULT 0;
