-- What one process has to tell another about an exchange with a tool server that only the other one holds. body is
-- sealed. A letter is taken by whoever it is for, once; what nobody takes is forgotten.
CREATE TABLE tool_letters (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  recipient text NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tool_letters_recipient ON tool_letters (recipient, id);
