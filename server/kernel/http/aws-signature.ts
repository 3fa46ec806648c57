import { createHash, createHmac } from "node:crypto";
import { SignatureV4 } from "@smithy/signature-v4";

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Null for keys that do not expire. */
  readonly sessionToken: string | null;
}

export interface AwsRequest {
  readonly method: string;
  /** As it will be sent, with path and query encoded once. */
  readonly url: string;
  /** Headers to sign besides host, date, body hash and session token: only those that proxies do not change. Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly service: string;
  readonly region: string;
  readonly now: Date;
}

/** AWS Signature Version 4. Returns the headers to send, including the given ones. */
export async function signAwsRequest(
  { accessKeyId, secretAccessKey, sessionToken }: AwsKeys,
  request: AwsRequest,
): Promise<Record<string, string>> {
  const { service, region, method, body } = request;
  const { protocol, host, hostname, port, pathname, searchParams } = new URL(request.url);
  const signer = new SignatureV4({
    service,
    region,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
    sha256: Sha256,
    // Every service except S3 signs the path encoded a second time.
    uriEscapePath: service !== "s3",
  });
  const headers = { host, ...request.headers };
  const signed = await signer.sign(
    {
      method,
      protocol,
      hostname,
      ...(port === "" ? {} : { port: Number(port) }),
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers,
      body,
    },
    { signingDate: request.now },
  );
  // The HTTP client sets the same host header itself.
  const { host: _host, ...sent } = signed.headers;
  return sent;
}

/** SHA-256, keyed or not, with the interface that the signer expects. */
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
