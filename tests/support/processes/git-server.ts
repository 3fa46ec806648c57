import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Git's own HTTP server with basic authentication. Below `late/` fetches are answered with 429, and below `torn/` they fail midway. */
export interface GitServer {
  /** URL of a repository in the folder. */
  address(name: string): string;
  /** Each request's path and authorization header. */
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[];
  stop(): Promise<void>;
}

export async function startGitServer(folder: string, credential: string): Promise<GitServer> {
  const asked: { path: string; authorization: string | undefined }[] = [];
  const home = spawnSync("git", ["--exec-path"], { encoding: "utf8" }).stdout.trim();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://git");
    const { authorization } = request.headers;
    asked.push({ path: url.pathname, authorization });
    if (url.pathname.startsWith("/moved")) return void response.writeHead(302, { location: "http://127.0.0.1:9/" }).end();
    if (url.pathname.startsWith("/busy")) return void response.writeHead(429, { "retry-after": "3600" }).end();
    if (url.pathname.startsWith("/nonsense")) return void response.end("<html>not Git</html>");
    if (authorization !== `Basic ${Buffer.from(credential).toString("base64")}`) return void response.writeHead(401).end();
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const way = /^\/(late|torn)(?=\/)/.exec(url.pathname)?.[1];
    if (body.includes("command=fetch")) {
      if (way === "late") return void response.writeHead(429, { "retry-after": "3600" }).end();
      if (way === "torn") return void response.end("000dpackfile\n0009\u0003oops0000");
    }
    const backend = spawn(`${home}/git-http-backend`, {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: "1",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
        REQUEST_METHOD: request.method,
        PATH_INFO: way === undefined ? url.pathname : url.pathname.slice(way.length + 1),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    backend.stdin.end(body);
    let head = Buffer.alloc(0);
    let begun = false;
    backend.stdout.on("data", (piece: Buffer) => {
      if (begun) return void response.write(piece);
      head = Buffer.concat([head, piece]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      begun = true;
      const lines = head.subarray(0, end).toString().split("\r\n");
      const status = lines.find((line) => line.startsWith("Status: "));
      response.writeHead(status === undefined ? 200 : Number(status.slice(8, 11)));
      response.write(head.subarray(end + 4));
    });
    backend.stdout.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address: (name) => `${origin}/${name}`,
    asked,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
