-- Reranking is billed by search units: micro-dollars for a million; null: what it reads is billed as input.
ALTER TABLE models ADD COLUMN search_unit_cost bigint;
