import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";

/** How Bedrock is told who calls: a signature made with AWS keys, or an API key sent as it is. */
export type BedrockCredential =
  | { readonly kind: "keys"; readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken: string | null }
  | { readonly kind: "bearer"; readonly token: string };

/** `ACCESS_KEY_ID:SECRET` or `ACCESS_KEY_ID:SECRET:SESSION_TOKEN`; anything else is an API key of Bedrock's own. */
export function readBedrockCredential(apiKey: string): BedrockCredential {
  const keys = /^([A-Z0-9]{8,128}):([^:]+)(?::([^:]+))?$/.exec(apiKey);
  if (keys === null) return { kind: "bearer", token: apiKey };
  const [, accessKeyId, secretAccessKey, sessionToken] = keys;
  return { kind: "keys", accessKeyId: accessKeyId as string, secretAccessKey: secretAccessKey as string, sessionToken: sessionToken ?? null };
}

export interface ToSign {
  /** As it will be sent, its path encoded once. */
  readonly url: string;
  readonly body: string;
  readonly region: string;
  readonly now: Date;
}

/**
 * AWS Signature Version 4 of a JSON POST to service `bedrock`. Gives the headers to send with it. Only what cannot change
 * on the way is signed: host, content type, date, the body's hash and the session token.
 */
export async function signedHeaders(credential: Extract<BedrockCredential, { kind: "keys" }>, { url, body, region, now }: ToSign): Promise<Record<string, string>> {
  const { protocol, host, hostname, port, pathname } = new URL(url);
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  const signer = new SignatureV4({
    service: "bedrock",
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
    sha256: Sha256,
  });
  const headers = { host, "content-type": "application/json" };
  const signed = await signer.sign({ method: "POST", protocol, hostname, ...(port === "" ? {} : { port: Number(port) }), path: pathname, query: {}, headers, body }, { signingDate: now });
  // The client writes the host itself, the same one.
  const { host: _host, ...sent } = signed.headers;
  return sent;
}

/** SHA-256, keyed or not, in the shape the signer asks for. */
class Sha256 {
  private readonly key: string | Uint8Array | undefined;
  private readonly data: Uint8Array[] = [];

  constructor(key?: string | ArrayBuffer | ArrayBufferView) {
    this.key = key === undefined || typeof key === "string" ? key : bytesOf(key);
  }

  update(data: Uint8Array): void {
    this.data.push(data);
  }

  async digest(): Promise<Uint8Array> {
    const hash = this.key === undefined ? createHash("sha256") : createHmac("sha256", this.key);
    for (const data of this.data) hash.update(data);
    return new Uint8Array(hash.digest());
  }

  reset(): void {
    this.data.length = 0;
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
}
