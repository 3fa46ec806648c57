/** The package has no types; these are the three members the fixture uses. */
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
