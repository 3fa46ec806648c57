import { forgetBetweenPeople, startApp } from "@gatehouse/web-kit/app-frame.tsx";
import { PortalApp } from "./portal-app.tsx";
import { ownSession } from "./portal-client.ts";
import { translations } from "./translations.ts";
import "./portal.css";

await translations.start();
forgetBetweenPeople(ownSession);
void ownSession.resume();
startApp(<PortalApp />);
