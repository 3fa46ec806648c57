/** A running Keycloak, driven through its admin API and the forms of its pages. */
export interface Keycloak {
  readonly realm: string;
  readonly issuer: string;
  /** Creates a client of the realm from its admin API document. */
  client(document: object): Promise<void>;
  /** Creates a user with a password in these groups; resolves to the ID. */
  person(username: string, groups: readonly string[]): Promise<string>;
  /** Ends all of a user's sessions, with back-channel logout to the applications. */
  logOut(userId: string): Promise<void>;
  /** The certificate that signs SAML responses, in PEM. */
  certificate(): Promise<string>;
  remove(): Promise<void>;
}

export const PERSONS_PASSWORD = "a long enough password";

/** Creates a realm. `url` and the administrator come from `.ci/with-keycloak`. */
export async function keycloakRealm(url: string): Promise<Keycloak> {
  const realm = `gatehouse-${crypto.randomUUID().slice(0, 8)}`;
  const { access_token: token } = (await (
    await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username: "admin", password: "admin" }),
    })
  ).json()) as { access_token: string };
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  await ask("POST", "", {
    realm,
    enabled: true,
    sslRequired: "none",
    groups: [{ name: "eng" }, { name: "all" }],
    // The admin API's token must outlive the suite.
    accessTokenLifespan: 300,
    ssoSessionMaxLifespan: 1800,
  });
  return {
    realm,
    issuer: `${url}/realms/${realm}`,
    client: async (document) => void (await ask("POST", `/${realm}/clients`, document)),
    async person(username, groups) {
      const response = await ask("POST", `/${realm}/users`, {
        username,
        enabled: true,
        email: `${username}@example.com`,
        emailVerified: true,
        firstName: username,
        lastName: "Example",
        groups: groups.map((name) => `/${name}`),
        credentials: [{ type: "password", value: PERSONS_PASSWORD, temporary: false }],
      });
      return response.headers.get("location")?.split("/").at(-1) ?? "";
    },
    logOut: async (userId) => void (await ask("POST", `/${realm}/users/${userId}/logout`)),
    async certificate() {
      const { keys } = (await (await ask("GET", `/${realm}/keys`)).json()) as { keys: { use: string; certificate?: string }[] };
      const found = keys.find((key) => key.use === "SIG" && key.certificate !== undefined)?.certificate ?? "";
      return `-----BEGIN CERTIFICATE-----\n${found.replace(/(.{64})/g, "$1\n")}\n-----END CERTIFICATE-----\n`;
    },
    remove: async () => void (await ask("DELETE", `/${realm}`)),
  };
}

const unescaped = (text: string) =>
  text
    .replaceAll("&amp;", "&")
    .replaceAll("&#x2f;", "/")
    .replaceAll("&#47;", "/")
    .replaceAll("&quot;", '"')
    .replaceAll("&#43;", "+")
    .replaceAll("&#61;", "=");

/** A page's only form: its action and fields. */
export function formOn(html: string): { action: string; fields: Record<string, string> } {
  const action = /<form[^>]*\saction="([^"]+)"/i.exec(html)?.[1];
  if (action === undefined) throw new Error(`no form on this page: ${html.slice(0, 500)}`);
  const fields: Record<string, string> = {};
  for (const [input] of html.matchAll(/<input[^>]*>/gi)) {
    const name = /\sname="([^"]+)"/i.exec(input)?.[1];
    if (name !== undefined) fields[name] = unescaped(/\svalue="([^"]*)"/i.exec(input)?.[1] ?? "");
  }
  return { action: unescaped(action), fields };
}
