-- A call that is served faster, or later, than usual has prices of its own, by the name that its vendor gives the way it is served.
ALTER TABLE models ADD COLUMN service_tier_prices jsonb NOT NULL DEFAULT '[]';
