// The peer has no setting for the address it binds to and would listen on every interface. Loaded before it, this
// makes loopback the default; nothing on the path of a call is touched.
import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function (first, ...rest) {
  if (typeof first === "number")
    return listen.call(this, { port: first, host: "127.0.0.1" }, ...rest.filter((value) => typeof value === "function"));
  return listen.call(this, first, ...rest);
};
