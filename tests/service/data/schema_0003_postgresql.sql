SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.access (
    id integer NOT NULL,
    version bigint NOT NULL,
    secret text NOT NULL
);
CREATE SEQUENCE public.access_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.access_id_seq OWNED BY public.access.id;
CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.api_keys (
    id text NOT NULL,
    name text NOT NULL,
    digest text NOT NULL,
    roles text NOT NULL,
    experiments text,
    created bigint NOT NULL,
    revoked bigint
);
CREATE TABLE public.due (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    deadline bigint NOT NULL
);
CREATE TABLE public.experiments (
    id integer NOT NULL,
    name text NOT NULL,
    seq bigint NOT NULL,
    status text NOT NULL,
    created bigint NOT NULL
);
CREATE SEQUENCE public.experiments_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.experiments_id_seq OWNED BY public.experiments.id;
CREATE TABLE public.idempotency_keys (
    experiment integer NOT NULL,
    idempotency_key text NOT NULL,
    fingerprint text NOT NULL,
    seq bigint NOT NULL,
    entry_count integer NOT NULL,
    at bigint DEFAULT '0'::bigint NOT NULL
);
CREATE TABLE public.log (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    at bigint NOT NULL,
    arm text,
    decision bigint,
    reward double precision,
    token text,
    unit text,
    deadline bigint,
    pulls bigint,
    mean double precision,
    index double precision,
    effective_arms double precision,
    data text,
    pending bigint
);
CREATE TABLE public.snapshots (
    experiment integer NOT NULL,
    seq bigint NOT NULL,
    digest text NOT NULL,
    data text NOT NULL
);
ALTER TABLE ONLY public.access ALTER COLUMN id SET DEFAULT nextval('public.access_id_seq'::regclass);
ALTER TABLE ONLY public.experiments ALTER COLUMN id SET DEFAULT nextval('public.experiments_id_seq'::regclass);
INSERT INTO public.access VALUES (1, 1, '2b9b62a48e8c98a53c3bcc20b6926da5b0a9543c1794d29acb79285e67069217');
INSERT INTO public.alembic_version VALUES ('0003');
INSERT INTO public.api_keys VALUES ('6m8gbx72gzmt', 'old admin', '24474c42da2f3de1f85b5ee38bdd7f1d040be47ecaa909ad1526f430e4f3310b', '["admin"]', NULL, 1700003910000000, NULL);
INSERT INTO public.due VALUES (1, 55, 1700007510000000);
INSERT INTO public.experiments VALUES (2, 'plain', 22, 'active', 1700003910000000);
INSERT INTO public.experiments VALUES (3, 'ended', 8, 'archived', 1700003910000000);
INSERT INTO public.experiments VALUES (1, 'colours', 75, 'active', 1700000000000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 0', 'decide 1 unit 0', 2, 1, 1700000000000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 1', 'decide 1 unit 1', 4, 1, 1700000007000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 2', 'decide 1 unit 2', 6, 1, 1700000014000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 3', 'decide 1 unit 3', 8, 1, 1700000021000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 4', 'decide 1 unit 4', 10, 1, 1700000028000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 5', 'decide 1 unit 5', 12, 1, 1700000035000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 6', 'decide 1 unit 6', 14, 1, 1700000042000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 7', 'decide 1 unit 7', 16, 1, 1700000049000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 8', 'decide 1 unit 8', 18, 1, 1700000056000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 9', 'decide 1 unit 9', 20, 1, 1700000063000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 10', 'decide 1 unit 10', 22, 1, 1700000070000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 11', 'decide 1 unit 11', 24, 1, 1700000077000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 12', 'decide 1 unit 12', 26, 1, 1700000084000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 13', 'decide 1 unit 13', 28, 1, 1700000091000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 14', 'decide 1 unit 14', 30, 1, 1700000098000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 15', 'decide 1 unit 15', 32, 1, 1700000105000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 16', 'decide 1 unit 16', 34, 1, 1700000112000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 17', 'decide 1 unit 17', 36, 1, 1700000119000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 18', 'decide 1 unit 18', 38, 1, 1700000126000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 19', 'decide 1 unit 19', 40, 1, 1700000133000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 20', 'decide 1 unit 0', 2, 1, 1700000140000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 21', 'decide 1 unit 1', 4, 1, 1700000147000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 22', 'decide 1 unit 2', 6, 1, 1700000154000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 23', 'decide 1 unit 3', 8, 1, 1700000161000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 24', 'decide 1 unit 4', 10, 1, 1700000168000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 25', 'decide 1 unit 5', 12, 1, 1700000175000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 26', 'decide 1 unit 6', 14, 1, 1700000182000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 27', 'decide 1 unit 7', 16, 1, 1700000189000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 28', 'decide 1 unit 8', 18, 1, 1700000196000000);
INSERT INTO public.idempotency_keys VALUES (1, 'key 29', 'decide 1 unit 9', 20, 1, 1700000203000000);
INSERT INTO public.idempotency_keys VALUES (1, 'import', 'import 16ea1f5ef3ef3b38f58059a8001b9aeaf0154095b0cbc329c9650363ef6add4f', 44, 1, 1700000210000000);
INSERT INTO public.idempotency_keys VALUES (2, 'open', 'decide 1 ', 22, 1, 1700003910000000);
INSERT INTO public.log VALUES (1, 1, 'created', 1700000000000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"colours","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":3600.0,"on_expiry":0.25,"late":"refuse","sticky":7200.0,"metadata":{}}', NULL);
INSERT INTO public.log VALUES (1, 2, 'decision', 1700000000000000, '"red"', NULL, NULL, 'tdjxNoNHYKng__3XZhW_NQ', 'unit 0', 1700003600000000, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (1, 3, 'reward', 1700000007000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 4, 'decision', 1700000007000000, '"green"', NULL, NULL, 'CCrJD9ccuOZ9ewtxAdYBDw', 'unit 1', 1700003607000000, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (1, 5, 'reward', 1700000014000000, '"green"', 4, 0.03333333333333333, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 6, 'decision', 1700000014000000, '"blue"', NULL, NULL, 'Zqyj2nwUNHNAp9rSWRKdRw', 'unit 2', 1700003614000000, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (1, 7, 'reward', 1700000021000000, '"blue"', 6, 0.06666666666666667, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 8, 'decision', 1700000021000000, '"blue"', NULL, NULL, '1HCDNQBZcTqOxqRPrcKdvA', 'unit 3', 1700003621000000, 1, 0.06666666666666667, 1.5499063640857993, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 9, 'reward', 1700000028000000, '"blue"', 8, 0.1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 10, 'decision', 1700000028000000, '"green"', NULL, NULL, '1BgN9yVupsDAAcVnFMJw7Q', 'unit 4', 1700003628000000, 1, 0.03333333333333333, 1.516573030752466, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 11, 'reward', 1700000035000000, '"green"', 10, 0.13333333333333333, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 12, 'decision', 1700000035000000, '"red"', NULL, NULL, 'I6UtLHe-dqULD9CxDYepVw', 'unit 5', 1700003635000000, 1, 0, 1.6756967431351446, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 13, 'reward', 1700000042000000, '"red"', 12, 0.16666666666666666, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 14, 'decision', 1700000042000000, '"red"', NULL, NULL, 'eXnWbl3BY3ajYBPicWgZow', 'unit 6', 1700003642000000, 2, 0.08333333333333333, 1.132142181503485, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 15, 'reward', 1700000049000000, '"red"', 14, 0.2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 16, 'decision', 1700000049000000, '"green"', NULL, NULL, '9GhbY6wBDhqnTkA7Ip5kYw', 'unit 7', 1700003649000000, 2, 0.08333333333333333, 1.1424648570791092, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 17, 'reward', 1700000056000000, '"green"', 16, 0.23333333333333334, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 18, 'decision', 1700000056000000, '"blue"', NULL, NULL, 'A1N-NrFZ3GtPRWP4InK_dw', 'unit 8', 1700003656000000, 2, 0.08333333333333334, 1.228726771376912, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 19, 'reward', 1700000063000000, '"blue"', 18, 0.26666666666666666, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 20, 'decision', 1700000063000000, '"blue"', NULL, NULL, 'ymZ0c3WdsX-5V1Fr_pse6w', 'unit 9', 1700003663000000, 3, 0.14444444444444446, 1.0007932830221198, 3.0000000000000004, NULL, 0);
INSERT INTO public.log VALUES (1, 21, 'reward', 1700000070000000, '"blue"', 20, 0.3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 22, 'decision', 1700000070000000, '"green"', NULL, NULL, 'iDoTKPlmrZ_xLRLrIwd8nQ', 'unit 10', 1700003670000000, 3, 0.13333333333333333, 1.0213229302034859, 3.0000000000000004, NULL, 0);
INSERT INTO public.log VALUES (1, 23, 'reward', 1700000077000000, '"green"', 22, 0.3333333333333333, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 24, 'decision', 1700000077000000, '"red"', NULL, NULL, 'lHgz27LEdFYF_o7drr8A9g', 'unit 11', 1700003677000000, 3, 0.12222222222222223, 1.0594909074272056, 3.0000000000000004, NULL, 0);
INSERT INTO public.log VALUES (1, 25, 'reward', 1700000084000000, '"red"', 24, 0.36666666666666664, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 26, 'decision', 1700000084000000, '"red"', NULL, NULL, 'dt6eMi9CpDCrMiZhRFQYVw', 'unit 12', 1700003684000000, 4, 0.18333333333333335, 0.9330598123454503, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 27, 'reward', 1700000091000000, '"red"', 26, 0.4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 28, 'decision', 1700000091000000, '"green"', NULL, NULL, 'ejZGbYARB_GE6iTvm5PSHg', 'unit 13', 1700003691000000, 4, 0.18333333333333335, 0.9697904863986119, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 29, 'reward', 1700000098000000, '"green"', 28, 0.43333333333333335, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 30, 'decision', 1700000098000000, '"blue"', NULL, NULL, 'tk_UHPTBNWIblg0ECNm0_g', 'unit 14', 1700003698000000, 4, 0.18333333333333335, 1.002268522677449, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 31, 'reward', 1700000105000000, '"blue"', 30, 0.4666666666666667, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 32, 'decision', 1700000105000000, '"blue"', NULL, NULL, 'at9bhi65X7ZYjqRkCnZNTQ', 'unit 15', 1700003705000000, 5, 0.24000000000000005, 0.930724824468725, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 33, 'reward', 1700000112000000, '"blue"', 32, 0.5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 34, 'decision', 1700000112000000, '"green"', NULL, NULL, 'yPpWPa4WoMKr0cveHxFPWw', 'unit 16', 1700003712000000, 5, 0.23333333333333334, 0.9497779256087349, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 35, 'reward', 1700000119000000, '"green"', 34, 0.5333333333333333, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 36, 'decision', 1700000119000000, '"red"', NULL, NULL, 'cGMYwoRHK7alo-HhPJ9jSw', 'unit 17', 1700003719000000, 5, 0.22666666666666666, 0.9664172611930095, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 37, 'reward', 1700000126000000, '"red"', 36, 0.5666666666666667, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 38, 'decision', 1700000126000000, '"green"', NULL, NULL, 'PpCQB8h7mHTO3J5buYe1AA', 'unit 18', 1700003726000000, 6, 0.2833333333333334, 0.9281547744759167, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 39, 'reward', 1700000133000000, '"green"', 38, 0.6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 40, 'decision', 1700000133000000, '"red"', NULL, NULL, 'dorBAXJdyKRkFIrNGQiwCA', 'unit 19', 1700003733000000, 6, 0.2833333333333333, 0.9473624837037702, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 41, 'reward', 1700000140000000, '"red"', 40, 0.6333333333333333, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 42, 'arm added', 1700000210000000, '"black"', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"metadata":{"hex":"#000"}}', NULL);
INSERT INTO public.log VALUES (1, 43, 'arm retired', 1700000210000000, '"red"', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 44, 'log imported', 1700000210000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"log":[["green",0.5],["blue",0.75]]}', NULL);
INSERT INTO public.log VALUES (1, 45, 'decision', 1700000210000000, '"black"', NULL, NULL, 'Cvf5kJ1IV3Rly8f9mnP6yA', NULL, 1700003810000000, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (1, 46, 'decision', 1700000210000000, '"blue"', NULL, NULL, 'CIHf-m-SEqWhEcRPbUas8g', NULL, 1700003810000000, 7, 0.35000000000000003, 1.0416614804417628, 2.3779644730092273, NULL, 0);
INSERT INTO public.log VALUES (1, 47, 'decision', 1700000210000000, '"green"', NULL, NULL, '3l9j_dv4u3lUFiB0S1YvRw', NULL, 1700003810000000, 8, 0.35000000000000003, 0.9820194243544467, 2.353553390593274, NULL, 0);
INSERT INTO public.log VALUES (1, 48, 'decision', 1700000210000000, '"blue"', NULL, NULL, 's5__UWQzuPCN50__qPhVQw', NULL, 1700003810000000, 8, 0.35000000000000003, 0.9930900125426756, 2.353553390593274, NULL, 1);
INSERT INTO public.log VALUES (1, 49, 'decision', 1700000210000000, '"green"', NULL, NULL, 'qCx1GMYQY0rHPdPOU3JsGw', NULL, 1700003810000000, 9, 0.35000000000000003, 0.9441140928628826, 2.3333333333333335, NULL, 1);
INSERT INTO public.log VALUES (1, 50, 'default', 1700003910000000, '"black"', 45, 0.25, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 51, 'default', 1700003910000000, '"blue"', 46, 0.25, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 52, 'default', 1700003910000000, '"green"', 47, 0.25, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 53, 'default', 1700003910000000, '"blue"', 48, 0.25, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 54, 'default', 1700003910000000, '"green"', 49, 0.25, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 55, 'decision', 1700003910000000, '"black"', NULL, NULL, 'jCAbOXgXU4tIKg6LiLTFIQ', NULL, 1700007510000000, 1, 0.25, 2.9998905264337132, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 1, 'created', 1700003910000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"plain","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{}}', NULL);
INSERT INTO public.log VALUES (2, 2, 'decision', 1700003910000000, '"red"', NULL, NULL, '8-2_J8woaptdIBCzzewtww', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (2, 3, 'reward', 1700003910000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 4, 'decision', 1700003910000000, '"green"', NULL, NULL, 'XMUaDAsGkqzh2FctyxbS5g', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (2, 5, 'reward', 1700003910000000, '"green"', 4, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 6, 'decision', 1700003910000000, '"blue"', NULL, NULL, 'cmq9diuN1b9FLJso_-SUgg', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (2, 7, 'reward', 1700003910000000, '"blue"', 6, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 8, 'decision', 1700003910000000, '"blue"', NULL, NULL, 'qEfzfUlDKs5COZpTBBMhoA', NULL, NULL, 1, 0.2857142857142857, 1.7689539831334185, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 9, 'reward', 1700003910000000, '"blue"', 8, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 10, 'decision', 1700003910000000, '"green"', NULL, NULL, '9yg9ubzStJlkwB1q1U40QQ', NULL, NULL, 1, 0.14285714285714285, 1.6260968402762754, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 11, 'reward', 1700003910000000, '"green"', 10, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 12, 'decision', 1700003910000000, '"red"', NULL, NULL, '0t6pwSPEbLqQ0bvFTmgRpg', NULL, NULL, 1, 0, 1.6756967431351446, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 13, 'reward', 1700003910000000, '"red"', 12, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 14, 'decision', 1700003910000000, '"red"', NULL, NULL, 'Ocq0aiJcWMCz7O_47Su1Lg', NULL, NULL, 2, 0.35714285714285715, 1.4059517053130088, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 15, 'reward', 1700003910000000, '"red"', 14, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 16, 'decision', 1700003910000000, '"green"', NULL, NULL, '-Y0z0H14Dp4eBkKe8d9dog', NULL, NULL, 2, 0.3571428571428571, 1.416274380888633, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 17, 'reward', 1700003910000000, '"green"', 16, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 18, 'decision', 1700003910000000, '"blue"', NULL, NULL, 'rvlJP5q9qu83qh1M9aEqCQ', NULL, NULL, 2, 0.3571428571428571, 1.5025362951864358, 3, NULL, 0);
INSERT INTO public.log VALUES (2, 19, 'reward', 1700003910000000, '"blue"', 18, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 20, 'decision', 1700003910000000, '"red"', NULL, NULL, 'cqhdCCynDCtfH9Bh7BDqaw', NULL, NULL, 3, 0.5238095238095238, 1.3801583623871991, 3.0000000000000004, NULL, 0);
INSERT INTO public.log VALUES (2, 21, 'reward', 1700003910000000, '"red"', 20, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (2, 22, 'decision', 1700003910000000, '"red"', NULL, NULL, 'IO8jijl3YQTbTnHZMCc8cQ', NULL, NULL, 4, 0.4642857142857143, 1.2059055629952806, 2.732050807568877, NULL, 0);
INSERT INTO public.log VALUES (3, 1, 'created', 1700003910000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"name":"ended","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":null,"on_expiry":"forget","late":"refuse","sticky":null,"metadata":{}}', NULL);
INSERT INTO public.log VALUES (3, 2, 'decision', 1700003910000000, '"red"', NULL, NULL, 'FB-yKXI8X5PfKb1VvbsHWQ', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (3, 3, 'reward', 1700003910000000, '"red"', 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (3, 4, 'decision', 1700003910000000, '"green"', NULL, NULL, 'MWORzcEPEtFNSSLV22fo1Q', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (3, 5, 'reward', 1700003910000000, '"green"', 4, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (3, 6, 'decision', 1700003910000000, '"blue"', NULL, NULL, 'Tx-lYIUK0rOJaXt5phWbAQ', NULL, NULL, 0, NULL, NULL, NULL, NULL, 0);
INSERT INTO public.log VALUES (3, 7, 'reward', 1700003910000000, '"blue"', 6, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (3, 8, 'archived', 1700003910000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 56, 'decision', 1700003910000000, '"black"', NULL, NULL, 'l-Dj653Hb7jNhfZ6-lHBhw', NULL, 1700007510000000, 2, 0.25, 2.0017451283045595, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 57, 'reward', 1700003910000000, '"black"', 56, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 58, 'decision', 1700003910000000, '"black"', NULL, NULL, 'tXKg4m-n5MDs62ntUCm8pg', NULL, 1700007510000000, 3, 0.125, 1.4593938397964887, 3.0000000000000004, NULL, 1);
INSERT INTO public.log VALUES (1, 59, 'reward', 1700003910000000, '"black"', 58, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 60, 'decision', 1700003910000000, '"black"', NULL, NULL, 'fk7_CVEjWZdMFrG6fUWnJg', NULL, 1700007510000000, 4, 0.13095238095238096, 1.226644593698283, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 61, 'reward', 1700003910000000, '"black"', 60, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 62, 'decision', 1700003910000000, '"black"', NULL, NULL, 'ZQBdLcd29SbJzFtkdbpwAg', NULL, 1700007510000000, 5, 0.16964285714285715, 1.1078692185088013, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 63, 'reward', 1700003910000000, '"black"', 62, 0.42857142857142855, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 64, 'decision', 1700003910000000, '"black"', NULL, NULL, 'D_oIfuua2GaOaZrcCCmOSQ', NULL, 1700007510000000, 6, 0.22142857142857145, 1.0467952531207092, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 65, 'reward', 1700003910000000, '"black"', 64, 0.5714285714285714, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 66, 'decision', 1700003910000000, '"black"', NULL, NULL, '0a09Ko5ya9q-LozcJTCpUw', NULL, 1700007510000000, 7, 0.27976190476190477, 1.0197068553077786, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 67, 'reward', 1700003910000000, '"black"', 66, 0.7142857142857143, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 68, 'decision', 1700003910000000, '"black"', NULL, NULL, '7eOccwqU8w7INoAW3jaSxw', NULL, 1700007510000000, 8, 0.34183673469387754, 1.0145777541277299, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 69, 'reward', 1700003910000000, '"black"', 68, 0.8571428571428571, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 70, 'decision', 1700003910000000, '"black"', NULL, NULL, 'RolH8qENi8iFjpIR4l-iMQ', NULL, 1700007510000000, 9, 0.40625, 1.0245685204288275, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 71, 'reward', 1700003910000000, '"black"', 70, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 72, 'decision', 1700003910000000, '"blue"', NULL, NULL, 'sCLxDvaSd8WSue-HPNVwEA', NULL, 1700007510000000, 9, 0.3277777777777778, 0.9529794984165645, 3, NULL, 0);
INSERT INTO public.log VALUES (1, 73, 'reward', 1700003910000000, '"blue"', 72, 0.14285714285714285, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.log VALUES (1, 74, 'decision', 1700003910000000, '"black"', NULL, NULL, 'OnocAGEmf2IcxgSmNx04gg', NULL, 1700007510000000, 10, 0.3611111111111111, 0.9408489840303196, 3, NULL, 1);
INSERT INTO public.log VALUES (1, 75, 'reward', 1700003910000000, '"black"', 74, 0.2857142857142857, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.snapshots VALUES (1, 60, 'bfe3a2bcdeb7ee2fbe1613f7a5a428e262430ead2cdee49811b27c395764d6eb', '{"format":2,"seq":60,"status":"active","definition":{"name":"colours","arms":["red","green","blue"],"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"window":3600.0,"on_expiry":0.25,"late":"refuse","sticky":7200.0,"metadata":{}},"bandit":{"format":"ocucb bandit","version":1,"policy":{"name":"ocucb-n","parameters":{"eta":1.1,"rho":0.5,"shrink":"none"}},"noise":{"name":"gaussian","parameters":{"scale":1.0}},"seed":1,"labels":["red","green","blue","black"],"pulls":[7,10,9,5],"learned":[7,10,9,3],"totals":[2.333333333333333,3.3000000000000003,2.95,0.39285714285714285],"retired":[true,false,false,false],"first_arms":3},"history":{"width":1,"spans":[[1,1700000000000000,[["red",1]],0,1,0.0],[1,1700000007000000,[["green",1]],0,1,0.03333333333333333],[1,1700000014000000,[["blue",1]],0,1,0.06666666666666667],[1,1700000021000000,[["blue",1]],0,1,0.1],[1,1700000028000000,[["green",1]],0,1,0.13333333333333333],[1,1700000035000000,[["red",1]],0,1,0.16666666666666666],[1,1700000042000000,[["red",1]],0,1,0.2],[1,1700000049000000,[["green",1]],0,1,0.23333333333333334],[1,1700000056000000,[["blue",1]],0,1,0.26666666666666666],[1,1700000063000000,[["blue",1]],0,1,0.3],[1,1700000070000000,[["green",1]],0,1,0.3333333333333333],[1,1700000077000000,[["red",1]],0,1,0.36666666666666664],[1,1700000084000000,[["red",1]],0,1,0.4],[1,1700000091000000,[["green",1]],0,1,0.43333333333333335],[1,1700000098000000,[["blue",1]],0,1,0.4666666666666667],[1,1700000105000000,[["blue",1]],0,1,0.5],[1,1700000112000000,[["green",1]],0,1,0.5333333333333333],[1,1700000119000000,[["red",1]],0,1,0.5666666666666667],[1,1700000126000000,[["green",1]],0,1,0.6],[1,1700000133000000,[["red",1]],0,1,0.6333333333333333],[1,1700000210000000,[["black",1]],0,0,0.0],[1,1700000210000000,[["blue",1]],0,0,0.0],[1,1700000210000000,[["green",1]],0,0,0.0],[1,1700000210000000,[["blue",1]],0,0,0.0],[1,1700000210000000,[["green",1]],0,5,1.25],[1,1700003910000000,[["black",1]],0,0,0.0],[1,1700003910000000,[["black",1]],0,1,0.0],[1,1700003910000000,[["black",1]],0,1,0.14285714285714285],[1,1700003910000000,[["black",1]],0,0,0.0]]},"metadata":[["black",{"hex":"#000"}]],"last_mark":["decision",1700003910000000,"fk7_CVEjWZdMFrG6fUWnJg",null]}');
SELECT pg_catalog.setval('public.access_id_seq', 1, false);
SELECT pg_catalog.setval('public.experiments_id_seq', 3, true);
ALTER TABLE ONLY public.access
    ADD CONSTRAINT access_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.due
    ADD CONSTRAINT due_pkey PRIMARY KEY (experiment, seq);
ALTER TABLE ONLY public.experiments
    ADD CONSTRAINT experiments_name_key UNIQUE (name);
ALTER TABLE ONLY public.experiments
    ADD CONSTRAINT experiments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (experiment, idempotency_key);
ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_pkey PRIMARY KEY (experiment, seq);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (experiment, seq);
CREATE INDEX due_deadline ON public.due USING btree (deadline, experiment);
CREATE INDEX idempotency_keys_at ON public.idempotency_keys USING btree (at);
CREATE UNIQUE INDEX log_one_outcome ON public.log USING btree (experiment, decision) WHERE (decision IS NOT NULL);
CREATE INDEX log_unit ON public.log USING btree (experiment, unit, seq) WHERE (unit IS NOT NULL);
ALTER TABLE ONLY public.due
    ADD CONSTRAINT due_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT keys_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.log
    ADD CONSTRAINT log_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_experiment_fkey FOREIGN KEY (experiment) REFERENCES public.experiments(id);
