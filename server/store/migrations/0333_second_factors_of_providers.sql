-- Whether a provider by which administrators sign in asks for a second factor itself, where their tenant asks for two.
UPDATE identity_providers SET settings = settings || '{"two_factor_at_provider": false}';
