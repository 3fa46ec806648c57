import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";

export interface CertificateAuthority {
  /** PEM file of its own certificate. */
  readonly file: string;
  /** Issues a certificate for a host; `days` may be negative. */
  issue(host: string, days: number): Certificate;
}

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

function openssl(folder: string, args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args], { cwd: folder, stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${stderr.toString()}`);
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** A certificate authority whose files are in a folder. */
export function certificateAuthority(folder: string): CertificateAuthority {
  openssl(folder, ["req", "-x509", ...NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=private authority"]);
  let issued = 0;
  return {
    file: join(folder, "ca.pem"),
    issue(host, days) {
      const name = `issued-${issued++}`;
      const read = (suffix: string) => readFileSync(join(folder, `${name}.${suffix}`), "utf8");
      writeFileSync(join(folder, `${name}.ext`), `subjectAltName=DNS:${host}`);
      openssl(folder, ["req", ...NEW_KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${host}`]);
      const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", String(days), "-extfile", `${name}.ext`];
      openssl(folder, ["x509", "-req", "-in", `${name}.csr`, "-out", `${name}.pem`, ...signing]);
      return { key: read("key"), cert: read("pem") };
    },
  };
}

/** A certificate for a host that only itself vouches for. */
export function selfSigned(folder: string, host: string): Certificate {
  const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  openssl(folder, ["req", "-x509", ...NEW_KEY, "-keyout", "self.key", "-out", "self.pem", "-days", "2", ...names]);
  return { key: readFileSync(join(folder, "self.key"), "utf8"), cert: readFileSync(join(folder, "self.pem"), "utf8") };
}

export interface TlsUpstream {
  readonly origin: string;
  connections(): number;
  stop(): Promise<void>;
}

/** An upstream with a certificate, at the name `localhost`. Answers each request with `answer`, which is JSON. */
export async function startTlsUpstream(certificate: Certificate, answer: string): Promise<TlsUpstream> {
  let connections = 0;
  const sockets = new Set<TLSSocket>();
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(answer)}\r\nconnection: close\r\n\r\n`;
  const server = createServer(certificate, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.once("data", () => socket.end(head + answer));
  });
  server.on("connection", () => connections++).on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
