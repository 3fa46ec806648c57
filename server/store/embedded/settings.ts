/** For one machine and one application, about 80 MB of memory. All settings that durability depends on keep their defaults. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  max_connections: "60",
  shared_buffers: "64MB",
  effective_cache_size: "256MB",
  maintenance_work_mem: "32MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  // Limits what a start after a crash has to replay.
  max_wal_size: "256MB",
  min_wal_size: "64MB",
  io_method: "sync",
  max_logical_replication_workers: "0",
  max_worker_processes: "2",
  max_parallel_workers: "0",
  autovacuum_max_workers: "2",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
};

/** As command line arguments, so that an older cluster follows the settings of the release that starts it. */
export function settingArguments(socketDirectory: string, overrides: Readonly<Record<string, string>>): string[] {
  // PostgreSQL reads a list of directories here: an unquoted comma or space in the path would split it.
  const quoted = `"${socketDirectory.replaceAll('"', '""')}"`;
  return Object.entries({ ...SETTINGS, ...overrides, unix_socket_directories: quoted }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
}
