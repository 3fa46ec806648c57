-- The addresses and CIDR ranges from which an API key is accepted, as they were written; null for every address.
ALTER TABLE api_keys ADD COLUMN allowed_addresses text[];
