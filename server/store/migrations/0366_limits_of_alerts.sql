-- Which limit an alert is about, so that whoever shows it can say so in the reader's language.
ALTER TABLE alerts ADD COLUMN usage_limit jsonb;
