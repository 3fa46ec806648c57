/** An authorization server that consents to everything at once and answers token requests as scripted. */
export interface ScriptedIssuer {
  readonly issuer: string;
  /** Requests received, with the form or the query. */
  readonly seen: { readonly path: string; readonly values: Record<string, string>; readonly authorization: string | null }[];
  /** Overrides members of its metadata document. */
  document: Record<string, unknown>;
  /** Answers token requests; replace it to change the answers. */
  answer: (form: Record<string, string>) => Response | Promise<Response>;
  stop(): Promise<void>;
}

export function startScriptedIssuer(): ScriptedIssuer {
  let given = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      const own = `http://${url.host}`;
      const values = Object.fromEntries(
        request.method === "POST" && url.pathname !== "/register" ? new URLSearchParams(await request.text()) : url.searchParams,
      );
      fixture.seen.push({ path: url.pathname, values, authorization: request.headers.get("authorization") });
      switch (url.pathname) {
        case "/.well-known/oauth-authorization-server":
          return Response.json({
            issuer: own,
            authorization_endpoint: `${own}/authorize`,
            token_endpoint: `${own}/token`,
            registration_endpoint: `${own}/register`,
            revocation_endpoint: `${own}/revoke`,
            code_challenge_methods_supported: ["S256"],
            authorization_response_iss_parameter_supported: true,
            ...fixture.document,
          });
        case "/register":
          return Response.json({ client_id: `client of ${own}`, client_secret: `secret of ${own}` }, { status: 201 });
        case "/authorize":
          return Response.redirect(
            `${values.redirect_uri}?${new URLSearchParams({ state: values.state ?? "", code: `code-${++given}`, iss: own })}`,
            302,
          );
        case "/token":
          return fixture.answer(values);
        case "/revoke":
          return new Response();
        default:
          return new Response(null, { status: 404 });
      }
    },
  });
  const fixture: ScriptedIssuer = {
    issuer: `http://127.0.0.1:${server.port}`,
    seen: [],
    document: {},
    answer: () => tokens(),
    stop: () => server.stop(true),
  };
  return fixture;
}

let made = 0;

/** A token response with new tokens; `rest` overrides members. */
export function tokens(rest: Record<string, unknown> = {}): Response {
  made++;
  return Response.json({
    access_token: `access-${made}`,
    refresh_token: `refresh-${made}`,
    token_type: "Bearer",
    expires_in: 3600,
    ...rest,
  });
}
