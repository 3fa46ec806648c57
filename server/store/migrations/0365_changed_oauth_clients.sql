-- Whoever keeps a gateway's configuration elsewhere sees by it whether a secret that was sent again was another one.
ALTER TABLE oauth_upstream_clients ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now();
