/** The content of a portal token. */
export interface PortalToken {
  readonly userId: string;
  readonly tenantId: string;
  /** Epoch milliseconds; exact for the gateway's own tokens, otherwise to the second. */
  readonly issuedAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** When the session behind the token ends according to the identity provider; null if it sets no end. */
  readonly sessionEndsAt: number | null;
  /** Whether it was renewed from a page session rather than issued by a sign-in. */
  readonly renewed: boolean;
  /** Whether the holder signed in by an identity provider rather than a password. */
  readonly signedOn: boolean;
}

export interface TokenHolder {
  readonly id: string;
  readonly tenant_id: string;
  readonly username: string;
  readonly email: string | null;
  readonly tokens_valid_from: Date;
}
