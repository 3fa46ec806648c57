/** The error types of RFC 7644, section 3.12, that the gateway uses. */
export type ScimType =
  | "invalidFilter"
  | "tooMany"
  | "uniqueness"
  | "mutability"
  | "invalidSyntax"
  | "invalidPath"
  | "noTarget"
  | "invalidValue";

/** A refusal to a SCIM client. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, detail: string, scimType?: ScimType, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.name = "ScimError";
    this.status = status;
    this.scimType = scimType;
    this.headers = headers;
  }
}

export const invalidValue = (attribute: string, message: string) => new ScimError(400, `${attribute} ${message}`, "invalidValue");
