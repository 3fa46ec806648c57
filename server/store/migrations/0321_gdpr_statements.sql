-- What only the tenant itself can say in its record of processing (GDPR, article 30(1)(a) to (c)).
ALTER TABLE tenants ADD COLUMN gdpr_statements jsonb;
