"use strict";

// The bundled Swagger UI shows OpenAPI 3.1 well, but refuses to when told that it is 3.1.
fetch("openapi.json")
  .then((answer) => answer.json())
  .then((spec) =>
    SwaggerUIBundle({
      spec: { ...spec, openapi: "3.0.3" },
      dom_id: "#swagger-ui",
      deepLinking: true,
      defaultModelsExpandDepth: 0,
    }),
  );
