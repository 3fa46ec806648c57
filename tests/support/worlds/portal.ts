import { PORTAL_ROUTES } from "../../../server/surfaces/portal/routes.ts";

/** A client of the portal API, with or without a token. */
export interface PortalClient {
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: any; headers: Headers }>;
  readonly token: string | null;
}

export function portalClient(runtimeUrl: string, token: string | null = null): PortalClient {
  return {
    token,
    async request(method, path, body, headers = {}) {
      const given: RequestInit = body === undefined ? {} : body instanceof FormData ? { body } : { body: JSON.stringify(body) };
      const response = await fetch(`${runtimeUrl}/v1/portal${path}`, {
        method,
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...given,
      });
      const text = await response.text();
      const answer = response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
      mustBeAsDescribed(method, path, response.status, answer);
      return { status: response.status, headers: response.headers, body: answer };
    },
  };
}

export const PASSWORD = "a long enough password";

/** Registers a user in the tenant `default` and signs in. */
export async function newPerson(runtimeUrl: string, username: string): Promise<PortalClient & { readonly id: string }> {
  const stranger = portalClient(runtimeUrl);
  const made = await stranger.request("POST", "/auth/register", { username, password: PASSWORD });
  if (made.status !== 201) throw new Error(`register: ${made.status} ${JSON.stringify(made.body)}`);
  return { ...(await logIn(runtimeUrl, username)), id: made.body.id };
}

export async function logIn(runtimeUrl: string, username: string, password = PASSWORD): Promise<PortalClient> {
  const login = await portalClient(runtimeUrl).request("POST", "/auth/login", { username, password });
  if (login.status !== 200) throw new Error(`login: ${login.status} ${JSON.stringify(login.body)}`);
  return portalClient(runtimeUrl, login.body.access_token);
}

/** Checks every answer that tests see against the API document. */
function mustBeAsDescribed(method: string, path: string, status: number, answer: unknown): void {
  const asked = `/v1/portal${path}`.split("?")[0] as string;
  const route = PORTAL_ROUTES.find((one) => one.method === method && new RegExp(`^${one.path.replaceAll(/:\w+/g, "[^/]+")}$`).test(asked));
  if (route === undefined) return;
  // An HTML page reports errors as a page.
  if (route.described.answer.schema === undefined && typeof answer === "string") return;
  const { answer: described, error } = route.described;
  const schema = status >= 400 ? error : described.schema;
  if (status < 400 && status !== described.status) throw new Error(`${method} ${asked}: ${status} is not described`);
  const read = schema?.safeParse(answer);
  if (read?.success === false) throw new Error(`${method} ${asked} is not as described: ${read.error.message} ${JSON.stringify(answer)}`);
}
