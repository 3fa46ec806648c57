/** The package carries no types; the fixture uses three members of it. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    AccessToken: {
      find(token: string): Promise<{ isExpired: boolean; accountId: string; aud: unknown; scope?: string; clientId: string } | undefined>;
    };
  }
}
