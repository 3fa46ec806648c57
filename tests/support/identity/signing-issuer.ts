import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

/** An identity provider that signs anything, with keys a test can change, to do what an honest provider never does. */
export interface SigningIssuer {
  readonly issuer: string;
  /** How often its keys were fetched. */
  keyFetches(): number;
  /** A token signed with its newest key. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string | undefined; typ?: string }): Promise<string>;
  /** Creates a new key; the previous one is still published if `keep` is set. */
  rotate(how?: { keep: boolean }): Promise<void>;
  /** Signs with an unknown key, under the ID of the newest key unless `header` says otherwise. */
  signForeign(claims: JWTPayload, header?: { kid?: string | undefined }): Promise<string>;
  publicKeyPem(): Promise<string>;
  readonly kid: () => string;
  /** The token endpoint's answer for a code; receives the form. */
  answer: (form: Record<string, string>) => Promise<object>;
  /** How clients authenticated: the authorization header, else the secret in the form. */
  readonly authenticated: (string | undefined)[];
  /** Additional members of its metadata. */
  document: Record<string, unknown>;
  /** Requests to its authorization endpoint. */
  readonly asked: Record<string, string>[];
  stop(): Promise<void>;
}

const seconds = () => Math.floor(Date.now() / 1000);

export async function startSigningIssuer(): Promise<SigningIssuer> {
  let number = 0;
  let fetches = 0;
  const make = async () => {
    const pair = await generateKeyPair("RS256", { extractable: true });
    return { ...pair, kid: `key-${++number}` };
  };
  let key = await make();
  let kept: (typeof key)[] = [];
  const asked: Record<string, string>[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const url = new URL(request.url);
      if (url.pathname === "/.well-known/openid-configuration")
        return Response.json({
          issuer: fixture.issuer,
          authorization_endpoint: `${fixture.issuer}/authorize`,
          token_endpoint: `${fixture.issuer}/token`,
          jwks_uri: `${fixture.issuer}/jwks`,
          end_session_endpoint: `${fixture.issuer}/logout`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          code_challenge_methods_supported: ["S256"],
          ...fixture.document,
        });
      if (url.pathname === "/jwks") {
        fetches++;
        const published = [key, ...kept].map(async ({ publicKey, kid }) => ({
          ...(await exportJWK(publicKey)),
          kid,
          alg: "RS256",
          use: "sig",
        }));
        return Response.json({ keys: await Promise.all(published) });
      }
      if (url.pathname === "/authorize") {
        const query = Object.fromEntries(url.searchParams);
        asked.push(query);
        return Response.redirect(
          `${query.redirect_uri}?${new URLSearchParams({ code: `code-${asked.length}`, state: query.state ?? "" })}`,
          302,
        );
      }
      if (url.pathname === "/token") {
        const form = Object.fromEntries(new URLSearchParams(await request.text()));
        fixture.authenticated.push(request.headers.get("authorization") ?? form.client_secret);
        const answer = await fixture.answer(form);
        return answer instanceof Response ? answer : Response.json(answer);
      }
      return new Response(null, { status: 404 });
    },
  });
  const claimsOf = (claims: JWTPayload): JWTPayload => ({ iss: fixture.issuer, iat: seconds(), exp: seconds() + 300, ...claims });
  const signed = (claims: JWTPayload, by: CryptoKey, header: object) =>
    new SignJWT(claimsOf(claims)).setProtectedHeader({ alg: "RS256", kid: key.kid, ...header }).sign(by);
  const fixture: SigningIssuer = {
    issuer: `http://127.0.0.1:${server.port}`,
    keyFetches: () => fetches,
    asked,
    kid: () => key.kid,
    sign: (claims, header = {}) => signed(claims, key.privateKey, header),
    signForeign: async (claims, header = {}) => signed(claims, (await make()).privateKey, header),
    publicKeyPem: async () => {
      const { exportSPKI } = await import("jose");
      return exportSPKI(key.publicKey);
    },
    rotate: async ({ keep } = { keep: false }) => {
      kept = keep ? [key] : [];
      key = await make();
    },
    answer: async () => ({}),
    authenticated: [],
    document: {},
    stop: () => server.stop(true),
  };
  return fixture;
}
