-- When a member of a routing group takes over calls that another member did not serve: failure, context_window, content_filter.
ALTER TABLE models ADD COLUMN fallback_on text[] NOT NULL DEFAULT '{failure}';
