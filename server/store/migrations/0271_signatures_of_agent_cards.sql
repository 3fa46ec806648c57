-- Whose signatures an agent's own card has to have, and what they came to when it was last looked at: null until then.
ALTER TABLE agents
  ADD COLUMN card_keys jsonb,
  ADD COLUMN card_keys_url text,
  ADD COLUMN card_signature jsonb;
