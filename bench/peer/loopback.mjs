// The peer cannot be configured with a bind address and would listen on every interface. Preloaded, this makes loopback the default without
// touching the path of a call.
import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function (first, ...rest) {
  if (typeof first === "number")
    return listen.call(this, { port: first, host: "127.0.0.1" }, ...rest.filter((value) => typeof value === "function"));
  return listen.call(this, first, ...rest);
};
