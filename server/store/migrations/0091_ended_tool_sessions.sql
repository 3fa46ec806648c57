-- Set once its caller has ended the session: it is kept for as long as what is noted of others that nobody uses.
ALTER TABLE tool_sessions ADD COLUMN ended boolean NOT NULL DEFAULT false;
