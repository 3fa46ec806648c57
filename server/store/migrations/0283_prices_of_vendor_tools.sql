-- What vendors bill for the use of tools of their own beside tokens and searches: micro-dollars for a million uses, by the tool's name.
ALTER TABLE models ADD COLUMN tool_prices jsonb NOT NULL DEFAULT '[]';
