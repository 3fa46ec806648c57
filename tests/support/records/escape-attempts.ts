/** What a hostile skill tries; a script prints ESCAPED if it got something it must not have. */
const bash = (body: string) => ["attempt.sh", `${body}\n`] as const;
const python = (body: string) => ["attempt.py", `${body}\n`] as const;
const node = (body: string) => ["attempt.js", `${body}\n`] as const;

export interface Host {
  /** A world-readable file of the host, and its content. */
  readonly file: string;
  readonly secret: string;
  readonly pid: number;
  readonly ports: readonly number[];
  readonly dataDir: string;
}

/**
 * More than two hundred escape attempts: files, /proc, the network, other processes, devices, mounts, namespaces, memory, output, the
 * environment.
 */
export function escapeAttempts(host: Host): readonly (readonly [file: string, script: string])[] {
  const files = [
    host.file,
    host.dataDir,
    ...[
      "/etc/passwd",
      "/etc/shadow",
      "/etc/hostname",
      "/etc/hosts",
      "/etc/resolv.conf",
      "/etc/machine-id",
      "/root",
      "/home",
      "/work",
      "/var/log",
    ],
    ...[
      "/var/lib",
      "/run",
      "/sys/kernel",
      "/sys/fs/cgroup",
      "/boot",
      "/srv",
      "/opt",
      "/mnt",
      "/media",
      "/proc/1/root/etc/passwd",
      "/usr/local",
    ],
    ...[
      "/usr/src",
      "/usr/share/doc",
      "/etc/ssl",
      "/var/run/docker.sock",
      "/tmp/.X11-unix",
      "/dev/sda",
      "/dev/vda",
      "/dev/mem",
      "/dev/kmem",
    ],
  ];
  const writes = [
    "/",
    "/usr/bin",
    "/usr/lib",
    "/bin",
    "/etc",
    "/skill",
    "/skill/scripts",
    "/input",
    "/dev",
    "/proc",
    "/proc/sys/kernel",
    "/etc/alternatives",
  ];
  return [
    ...files.map((path) =>
      bash(
        `if [ -d '${path}' ]; then [ -n "$(ls -A '${path}' 2>/dev/null)" ] && echo ESCAPED; else cat '${path}' >/dev/null 2>&1 && echo ESCAPED; fi; exit 0`,
      ),
    ),
    ...files.map((path) =>
      python(
        `import os\ntry:\n  print("ESCAPED" if (os.listdir if os.path.isdir(${JSON.stringify(path)}) else lambda p: open(p,"rb").read(1))(${JSON.stringify(path)}) else "")\nexcept OSError: pass`,
      ),
    ),
    ...files
      .slice(0, 20)
      .map((path) =>
        bash(`ln -s '${path}' /tmp/link && cat /tmp/link/* /tmp/link >/dev/null 2>&1 && [ -s /tmp/link ] && echo ESCAPED; exit 0`),
      ),
    ...files.slice(0, 12).map((path) => bash(`ln -s '${path}' /output/linked.txt; exit 0`)),
    ...files
      .slice(0, 6)
      .map((path) =>
        bash(`cat "/proc/self/root/../../..${path}" "/skill/../../..${path}" 2>/dev/null | grep -q . && echo ESCAPED; exit 0`),
      ),
    ...writes.map((path) => bash(`(echo x > '${path}/escape') 2>/dev/null && echo ESCAPED; exit 0`)),
    ...writes.map((path) => node(`try { require("fs").writeFileSync("${path}/escape", "x"); console.log("ESCAPED") } catch {}`)),
    ...[...host.ports, 22, 80, 443, 5432].map((port) => bash(`(exec 5<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo ESCAPED; exit 0`)),
    ...host.ports.map((port) =>
      python(`import socket\ntry:\n  socket.create_connection(("127.0.0.1",${port}),1); print("ESCAPED")\nexcept OSError: pass`),
    ),
    ...host.ports.map((port) => node(`fetch("http://127.0.0.1:${port}/").then(() => console.log("ESCAPED"), () => {})`)),
    ...["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK"].map((family) =>
      python(
        `import socket\ntry:\n  socket.socket(getattr(socket,"${family}"),socket.SOCK_STREAM if "${family}" != "AF_PACKET" else socket.SOCK_RAW); print("ESCAPED")\nexcept (OSError, AttributeError): pass`,
      ),
    ),
    ...["example.com", "169.254.169.254", "localhost"].map((name) =>
      python(
        `import socket\ntry:\n  socket.getaddrinfo(${JSON.stringify(name)},80); s=socket.socket(); s.connect((${JSON.stringify(name)},80)); print("ESCAPED")\nexcept OSError: pass`,
      ),
    ),
    // The host's PID means another process in the sandbox or none; a process of the skill may have that number.
    ...["TERM", "KILL", "STOP", "HUP", "INT"].map((signal) =>
      bash(`kill -${signal} ${host.pid} 2>/dev/null; kill -${signal} 1 2>/dev/null; exit 0`),
    ),
    ...["TERM", "KILL"].map((signal) => bash(`trap '' TERM; kill -${signal} -1; exit 0`)),
    python(
      `import os\nfor p in os.listdir("/proc"):\n  if p.isdigit():\n    c=open(f"/proc/{p}/cmdline","rb").read()\n    if b"gatehouse.mjs" in c or b"postgres:" in c: print("ESCAPED")`,
    ),
    bash(`tr '\\0' '\\n' </proc/1/environ 2>/dev/null | grep -E 'GW_|DATABASE|SECRET|HOME=/root' && echo ESCAPED; exit 0`),
    bash(`env | grep -E 'GW_|DATABASE|SECRET|AWS|npm_' && echo ESCAPED; exit 0`),
    node(
      `const extra = Object.keys(process.env).filter((n) => !["PATH","HOME","LANG","PWD","OLDPWD","SHLVL","_"].includes(n)); if (extra.length) console.log("ESCAPED", extra)`,
    ),
    python(
      `import os\nfor fd in range(3,256):\n  try: t=os.readlink(f"/proc/self/fd/{fd}")\n  except OSError: continue\n  if not t.startswith("/proc") and not t.startswith("/skill"): print("ESCAPED",fd,t)`,
    ),
    ...["user", "mount", "net", "pid", "uts", "ipc", "cgroup"].map((kind) =>
      bash(`unshare --${kind} true 2>/dev/null && echo ESCAPED; exit 0`),
    ),
    ...["tmpfs", "proc", "sysfs", "cgroup2", "overlay", "devtmpfs"].map((kind) =>
      bash(`mount -t ${kind} none /tmp 2>/dev/null && echo ESCAPED; exit 0`),
    ),
    ...["b 8 0", "c 1 1", "c 1 2", "b 254 0", "c 10 200"].map((device) =>
      bash(`mknod /tmp/device ${device} 2>/dev/null && echo ESCAPED; exit 0`),
    ),
    ...[101, 155, 161, 165, 246, 250, 272, 298, 304, 308, 310, 321, 323, 425, 428, 435, 438, 442].map((number) =>
      python(
        `import ctypes\nl=ctypes.CDLL(None,use_errno=True)\nr=l.syscall(${number},0,0,0,0,0,0)\ne=ctypes.get_errno()\nprint("ESCAPED",r,e) if not (r==-1 and e in (1,38)) else None`,
      ),
    ),
    // What the JavaScript engine offers besides the modules of Node.js.
    ...host.ports.map((port) =>
      node(
        `Bun.connect({hostname:"127.0.0.1",port:${port},socket:{open(){console.log("ESCAPED")},data(){},error(){},connectError(){}}}).catch(()=>{})`,
      ),
    ),
    node(`try { Bun.serve({port:0,fetch:()=>new Response("x")}); console.log("ESCAPED") } catch {}; process.exit(0)`),
    ...files.slice(0, 6).map((path) => node(`Bun.file(${JSON.stringify(path)}).text().then((t) => t && console.log("ESCAPED"), () => {})`)),
    ...writes.slice(0, 4).map((path) => node(`Bun.write("${path}/escape", "x").then(() => console.log("ESCAPED"), () => {})`)),
    node(
      `try { const {dlopen}=require("bun:ffi"); const l=dlopen("libc.so.6",{socket:{args:["i32","i32","i32"],returns:"i32"}}); if (l.symbols.socket(2,1,0)>=0) console.log("ESCAPED") } catch {}`,
    ),
    node(`Bun.$\`cat /etc/passwd\`.quiet().text().then(() => console.log("ESCAPED"), () => {})`),
    node(`const w=[]; for(let i=0;i<500;i++) w.push(new Worker(URL.createObjectURL(new Blob(["for(;;);"]))))`),
    bash(`umount /skill 2>/dev/null && echo ESCAPED; exit 0`),
    bash(`chroot / true 2>/dev/null && echo ESCAPED; exit 0`),
    bash(`chmod u+s /tmp/x 2>/dev/null; cp /usr/bin/id /tmp/id; chmod 4755 /tmp/id; [ "$(/tmp/id -u)" = 0 ] && echo ESCAPED; exit 0`),
    bash(
      `for p in su sudo passwd mount newgrp chsh; do [ -u /usr/bin/$p ] && [ "$(timeout 2 /usr/bin/$p -c 'id -u' </dev/null 2>/dev/null)" = 0 ] && echo ESCAPED; done; exit 0`,
    ),
    bash(`echo x > /proc/sysrq-trigger 2>/dev/null && echo ESCAPED; exit 0`),
    bash(`echo /tmp/x > /proc/sys/kernel/core_pattern 2>/dev/null && echo ESCAPED; exit 0`),
    bash(`echo 0 > /proc/self/oom_score_adj 2>/dev/null; [ "$(cat /proc/self/oom_score_adj)" -lt 1000 ] && echo ESCAPED; exit 0`),
    bash(`ulimit -u unlimited 2>/dev/null && [ "$(ulimit -u)" = unlimited ] && echo ESCAPED; exit 0`),
    bash(`mkdir /sys/fs/cgroup/x 2>/dev/null && echo ESCAPED; exit 0`),
    python(`import os\ntry: os.setuid(0); print("ESCAPED")\nexcept OSError: pass`),
    python(`import os\ntry: os.nice(-20); print("ESCAPED")\nexcept OSError: pass`),
    python(`import fcntl,termios\ntry: fcntl.ioctl(0,termios.TIOCSTI,b"x"); print("ESCAPED")\nexcept OSError: pass`),
    // Scripts that exceed a resource limit are killed.
    bash(`f(){ f|f& }; f; sleep 30`),
    python(`import os\nwhile True: os.fork()`),
    python(`a=[]\nwhile True: a.append(bytearray(16*1024*1024))`),
    node(`const a=[]; for(;;) a.push(Buffer.alloc(16*1024*1024, 1))`),
    bash(`yes`),
    bash(`yes >&2`),
    bash(`dd if=/dev/zero of=/tmp/big bs=1M count=1000 2>/dev/null && echo ESCAPED; exit 0`),
    bash(`dd if=/dev/zero of=/dev/shm/big bs=1M count=1000 2>/dev/null && echo ESCAPED; exit 0`),
    bash(`for i in 1 2 3 4; do dd if=/dev/zero of=/output/big$i bs=1M count=30 2>/dev/null; done; exit 0`),
    bash(`i=0; while [ $i -lt 100 ]; do echo x > /output/f$i; i=$((i+1)); done; printf x > '/output/..%2f'; exit 0`),
    bash(`(setsid sleep 300 >/dev/null 2>&1 &) ; (nohup sleep 300 >/dev/null 2>&1 &); exit 0`),
    bash(`while :; do :; done`),
  ];
}
