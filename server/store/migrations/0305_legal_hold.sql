-- Why nothing that retention or an erasure would remove may be removed of the tenant; null: it may.
ALTER TABLE tenants ADD COLUMN IF NOT EXISTS legal_hold text;
