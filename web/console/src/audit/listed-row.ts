import type { AdminApi } from "../api/admin-api.generated.ts";

export type ListedRow = AdminApi["POST /v1/admin/proxy-logs/query"]["answer"]["rows"][number];
