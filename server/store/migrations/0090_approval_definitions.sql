-- What the tool takes, as its server listed it when approval was asked for: SHA-256, hex, of its input schema; empty of a
-- tool that was not listed.
ALTER TABLE approvals ADD COLUMN definition_digest text NOT NULL DEFAULT '';
