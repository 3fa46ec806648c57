import { ptr } from "bun:ffi";
import { readdirSync } from "node:fs";
import { cLibrary } from "./c-library.ts";

/** The numbers of Linux; elsewhere the system's defaults stay. */
const SOL_SOCKET = 1;
const SO_KEEPALIVE = 9;
const SO_ACCEPTCONN = 30;
const IPPROTO_TCP = 6;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;

const SECONDS = 30;
const MAX_UNANSWERED = 4;
const INT_BYTES = 4;

/**
 * Has the system probe silent connections of callers. While a call is waited for, nothing else is sent on them: load balancers and NAT
 * forget connections that are silent for minutes, and a caller whose machine vanished would never be noticed. Bun has no such option, but
 * accepted sockets inherit those of the socket that listens. Does nothing where it cannot be done.
 */
export function probeSilentCallers(): void {
  if (process.platform !== "linux") return;
  const library = cLibrary({
    setsockopt: { args: ["int", "int", "int", "ptr", "u32"], returns: "int" },
    getsockopt: { args: ["int", "int", "int", "ptr", "ptr"], returns: "int" },
  });
  if (library === null) return;
  const { symbols, close } = library;
  const value = new Int32Array(1);
  const length = new Uint32Array(1);
  const isListening = (fd: number) => {
    value[0] = 0;
    length[0] = INT_BYTES;
    return symbols.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, ptr(value), ptr(length)) === 0 && value[0] === 1;
  };
  const set = (fd: number, level: number, option: number, to: number) => {
    value[0] = to;
    symbols.setsockopt(fd, level, option, ptr(value), INT_BYTES);
  };
  for (const fd of readdirSync("/proc/self/fd").map(Number).filter(isListening)) {
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, SECONDS);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, SECONDS);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, MAX_UNANSWERED);
  }
  close();
}
