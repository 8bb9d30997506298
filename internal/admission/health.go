package admission

import (
	"context"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// FederationService is the service whose health says whether this coordinator leads.
const FederationService = "covey.v1.Federation"

// Health is gRPC's health service on the sites' port. It asks for no certificate, as
// enrolment does: probes have none, and an answer holds one bit. Watch is left out:
// a stream that costs its caller nothing could be held open a million times.
type Health struct {
	healthv1.UnimplementedHealthServer
	Leading func() bool // reports whether this coordinator leads
}

// Check says of "" that the process serves, and of FederationService that it leads.
func (h Health) Check(_ context.Context, r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	switch r.GetService() {
	case "":
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}, nil
	case FederationService:
		s := healthv1.HealthCheckResponse_NOT_SERVING
		if h.Leading() {
			s = healthv1.HealthCheckResponse_SERVING
		}
		return &healthv1.HealthCheckResponse{Status: s}, nil
	}
	return nil, status.Error(codes.NotFound, "no such service")
}
