-- Approvers see the arguments as they were sent: a text keeps every digit, and what JSON may say that jsonb does not hold.
ALTER TABLE approvals ALTER COLUMN call_arguments TYPE text USING call_arguments::text;
