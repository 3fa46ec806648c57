const PREFIX = "system-web-search-";

/** The server's nominal address, which is not reachable from outside. */
export const WEB_SEARCH_URL = "gatehouse:web-search";

/** The gateway's own tool server for a tenant's web searches. */
export const webSearchServerId = (tenantId: string) => `${PREFIX}${tenantId}`;

export const isOwnServer = (id: string) => id.startsWith(PREFIX);
