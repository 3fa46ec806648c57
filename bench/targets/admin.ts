/** A client of the admin API. */
export class Admin {
  readonly #base: string;
  #token = "";

  constructor(base: string) {
    this.#base = base;
  }

  async login(username: string, password: string): Promise<void> {
    const { access_token } = await this.post("/v1/admin-users/system/login", { username, password });
    if (typeof access_token !== "string") throw new Error("the login gave no access_token");
    this.#token = access_token;
  }

  async post(path: string, body: object): Promise<Record<string, unknown>> {
    return this.send("POST", path, body);
  }

  /** Throws unless the answer is a success. */
  async send(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await fetch(this.#base + path, {
      method,
      headers: {
        "content-type": "application/json",
        "x-tenant-id": "default",
        ...(this.#token !== "" && { authorization: `Bearer ${this.#token}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} gave ${answer.status}: ${text.slice(0, 300)}`);
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  }
}
