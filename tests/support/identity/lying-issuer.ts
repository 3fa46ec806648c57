/** An authorization server that lies on command. */
export interface Liar {
  readonly issuer: string;
  document: Record<string, unknown>;
  /** Parameters of the redirect back to the client, besides the state. */
  answer: Record<string, string>;
  readonly asked: string[];
  stop(): Promise<void>;
}

export function startLiar(): Liar {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const url = new URL(request.url);
      asked.push(url.pathname);
      const own = `http://${url.host}`;
      if (url.pathname === "/.well-known/oauth-authorization-server") {
        return Response.json({
          issuer: own,
          authorization_endpoint: `${own}/authorize`,
          token_endpoint: `${own}/token`,
          registration_endpoint: `${own}/register`,
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
          ...fixture.document,
        });
      }
      if (url.pathname === "/register") return Response.json({ client_id: "gateway-at-liar" }, { status: 201 });
      if (url.pathname === "/authorize")
        return Response.redirect(
          `${url.searchParams.get("redirect_uri")}?${new URLSearchParams({ state: url.searchParams.get("state") ?? "", ...fixture.answer })}`,
          302,
        );
      if (url.pathname === "/token") return Response.json({ access_token: "token-of-liar", token_type: "Bearer" });
      return new Response(null, { status: 404 });
    },
  });
  const fixture: Liar = { issuer: `http://127.0.0.1:${server.port}`, document: {}, answer: {}, asked, stop: () => server.stop(true) };
  return fixture;
}
