const PREFIX = "system-web-search-";

/** Where the server says that it is; nothing leads there from outside. */
export const WEB_SEARCH_URL = "gatehouse:web-search";

/** The tool server that the gateway itself is for a tenant's searches of the web. */
export const webSearchServerId = (tenantId: string) => `${PREFIX}${tenantId}`;

export const isOwnServer = (id: string) => id.startsWith(PREFIX);
