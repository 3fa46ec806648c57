import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { PortalFailed, PortalFrame, PortalNotFound } from "./portal-frame.tsx";

const root = createRootRoute({ component: PortalFrame, notFoundComponent: PortalNotFound });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/chat" });
  },
});
const page = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component });

/** Every page of the portal, each in a chunk that is loaded on demand. */
const pages = [
  home,
  page(
    "/chat",
    lazyRouteComponent(() => import("./pages/chat.tsx"), "ChatPage"),
  ),
  page(
    "/chat/$handle",
    lazyRouteComponent(() => import("./pages/chat.tsx"), "ChatPage"),
  ),
  page(
    "/approvals",
    lazyRouteComponent(() => import("./pages/approvals.tsx"), "ApprovalsPage"),
  ),
  page(
    "/tools",
    lazyRouteComponent(() => import("./pages/tools.tsx"), "ToolsPage"),
  ),
  page(
    "/knowledge",
    lazyRouteComponent(() => import("./pages/knowledge.tsx"), "KnowledgePage"),
  ),
  page(
    "/files",
    lazyRouteComponent(() => import("./pages/files.tsx"), "FilesPage"),
  ),
  page(
    "/jobs",
    lazyRouteComponent(() => import("./pages/jobs.tsx"), "JobsPage"),
  ),
  page(
    "/tasks",
    lazyRouteComponent(() => import("./pages/tasks.tsx"), "TasksPage"),
  ),
  page(
    "/notifications",
    lazyRouteComponent(() => import("./pages/notifications.tsx"), "NotificationsPage"),
  ),
  page(
    "/alerts",
    lazyRouteComponent(() => import("./pages/alerts.tsx"), "AlertsPage"),
  ),
  page(
    "/profile",
    lazyRouteComponent(() => import("./pages/profile.tsx"), "ProfilePage"),
  ),
];

export const portalRouter = createRouter({
  routeTree: root.addChildren(pages),
  basepath: "/portal",
  defaultErrorComponent: PortalFailed,
  defaultPreload: "intent",
  scrollRestoration: true,
});
