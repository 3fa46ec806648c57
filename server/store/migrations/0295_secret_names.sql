-- The keys of the HMACs by which things are found again, encrypted. Written when the secret key is first changed; until
-- then they are derived from it. At most one row.
CREATE TABLE secret_names (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  keys_sealed text NOT NULL
);
