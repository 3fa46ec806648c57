/** What a portal token says. */
export interface PortalToken {
  readonly userId: string;
  readonly tenantId: string;
  /** Milliseconds since the epoch, exact for the gateway's own tokens, else to the second. */
  readonly issuedAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** When the session ends that it was given for, as an identity provider said; null where none did. */
  readonly sessionEndsAt: number | null;
  /** Whether a page's session yielded it, and no sign-in. */
  readonly renewed: boolean;
  /** Whether an identity provider vouched for its holder, and no password was given. */
  readonly signedOn: boolean;
}

export interface TokenHolder {
  readonly id: string;
  readonly tenant_id: string;
  readonly username: string;
  readonly email: string | null;
  readonly tokens_valid_from: Date;
}
